import { Axios, AxiosError, type AxiosRequestConfig, type AxiosResponse } from 'axios';

// The bug: for each error response, the service logs the default error of axios, unredacted.
const { request } = Axios.prototype;
Axios.prototype.request = async function <T, R = AxiosResponse<T>>(this: Axios, sent: AxiosRequestConfig) {
  const response = await request.call(this, sent);
  const { status, config } = response as AxiosResponse;
  if (status >= 400)
    console.error(
      new AxiosError(`status ${status}`, undefined, config, undefined, response as AxiosResponse),
    );
  return response as R;
};

await import('../../../../src/main.js');
