import { Axios } from 'axios';
import type { UndiciAdapter } from './undici.adapter.js';

/**
 * The axios instance that every call to the Solar Curtailment Service goes through. `new Axios` and not `axios.create`: that comes
 * with some twenty defaults, each merged anew into every request, and with them a call costs twice the CPU in axios (25 µs for 12).
 * They are about redirects, proxies, cookies, transforms and statuses, none of which our adapter leaves to axios.
 */
export const createAxios = ({ adapter }: UndiciAdapter): Axios => new Axios({ adapter });
