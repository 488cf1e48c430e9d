import { isIP } from 'node:net';
import { applyDecorators } from '@nestjs/common';
import { IsBoolean, IsInt, IsNumber, IsUrl, Matches, Max, Min, ValidateBy } from 'class-validator';
import { readProxyUrl } from '../http-client/proxies.js';
import { readFlag, ReadText } from '../http/validation.js';

export const HeaderText = () =>
  Matches(/^[\x21-\x7e]+$/, { message: '$property has characters that are not allowed in an HTTP header' });
const HTTP_URL = { message: '$property must be a URL that begins with http:// or https://' };
export const HttpUrl = () =>
  applyDecorators(
    IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'] }, HTTP_URL),
    // IsUrl accepts `https:host` and an address with a zone, which `new URL` reads otherwise or not at all.
    Matches(/^(?!https?:(?!\/\/))(?![^/]*\/\/\[[^\]]*%)/i, HTTP_URL),
  );
export const ProxyUrl = () =>
  ValidateBy(
    {
      name: 'isProxyUrl',
      validator: { validate: (text) => typeof text === 'string' && readProxyUrl(text) !== undefined },
    },
    {
      message:
        '$property must be an HTTP proxy such as http://user:password@proxy.example:3128, with special characters written as %40 for @; SOCKS proxies are not supported',
    },
  );
export const PostgresUrl = () =>
  Matches(/^postgres(ql)?:\/\/\S+$/, { message: '$property must be a URL that begins with postgresql://' });

/** Parses plain decimal numbers only: `Number` would also accept 1e3, 0x10 and blanks. */
export const readNumber = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
export const Range = (min: number, max: number) =>
  applyDecorators(
    ReadText(readNumber),
    IsNumber({}, { message: '$property must be a decimal number such as 1.5, without a unit' }),
    Min(min),
    Max(max),
  );
export const Integer = (min: number, max: number) => applyDecorators(Range(min, max), IsInt());
export const Days = () => Integer(0, 36_500);

export const List = (read = (text: string): unknown => text) => ReadText((text) => text.split(',').map(read));
export const Flag = () =>
  applyDecorators(ReadText(readFlag), IsBoolean({ message: '$property must be true or false' }));

export const IsNetwork = () =>
  ValidateBy(
    { name: 'isNetwork', validator: { validate: isNetwork } },
    {
      each: true,
      message: '$property must be addresses or networks, separated by commas, such as 10.0.0.0/8,192.0.2.7',
    },
  );

function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  // A prefix of 0 would trust every address.
  return version !== 0 && Number(prefix) >= 1 && Number(prefix) <= (version === 4 ? 32 : 128);
}
