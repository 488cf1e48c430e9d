import { texts } from '../../texts.js';

/** The tabs of the duty page after the first, which has no charts. */
export const VIEWS = texts.duty.views;
export type View = keyof typeof VIEWS;

/** The time ranges of the charts, by their hours. */
export type Hours = keyof typeof texts.duty.ranges;
