import axios, { type AxiosInstance } from 'axios';
import type { UndiciAdapter } from './undici.adapter.js';

/**
 * The axios instance that every call to the Solar Curtailment Service goes through. What axios does by default and we do
 * elsewhere or not at all is off: each costs time per call, and some (redirects, proxies) would carry credentials away.
 */
export function createAxios({ adapter }: UndiciAdapter): AxiosInstance {
  const instance = axios.create({
    adapter,
    validateStatus: () => true,
    maxRedirects: 0,
    proxy: false,
    responseType: 'text',
    transformRequest: [],
    transformResponse: [],
    xsrfCookieName: '',
    xsrfHeaderName: '',
  });
  // axios merges a table of default headers for every method into each request; ours come whole from the caller.
  instance.defaults.headers = {} as typeof instance.defaults.headers;
  return instance;
}
