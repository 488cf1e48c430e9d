import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import type { History } from '../api/client.js';
import { formatInstant } from '../format/instant.js';
import { formatNumber } from '../format/words.js';
import { linesOf, type Point } from '../rules/history.js';
import { zoomed, type Span } from '../rules/zoom.js';
import 'uplot/dist/uPlot.min.css';
import { texts } from '../texts.js';

type Figure = (point: Point) => number | null;

interface Props {
  /** The meaning of the chart in a few words. The unit comes from `format`. */
  readonly title: string;
  /** Undefined until it has been read. */
  readonly history: History | undefined;
  readonly of: Figure;
  /** A second, dashed line. */
  readonly against?: { readonly name: string; readonly of: Figure };
  readonly format?: (value: number) => string;
  /** The top of the axis, unless a value is greater. Default: 1. */
  readonly top?: number;
}

/** All charts show the same instant and the same time. */
const GROUP = 'charts';

/** Changes the time that all charts show: its length by a factor, and its place by a share of its length. */
export function zoom(factor: number, shift: number): void {
  for (const plot of uPlot.sync(GROUP).plots) {
    const [shown, all] = [shownIn(plot), spanOf(plot)];
    if (shown !== null && all !== null) plot.setScale('x', zoomed(shown, all, factor, shift));
  }
}

const shownIn = ({ scales: { x } }: uPlot): Span | null =>
  x?.min === undefined || x.max === undefined ? null : { min: x.min, max: x.max };

/** Returns the time that the data of a chart cover. */
const spanOf = ({ data: [times] }: uPlot): Span | null =>
  times.length < 2 ? null : { min: times[0]!, max: times.at(-1)! };

/** Shows new data. A person who has zoomed keeps the place, unless the data are of another length of time. */
function redraw(plot: uPlot, lines: uPlot.AlignedData): void {
  const [shown, before] = [shownIn(plot), spanOf(plot)];
  plot.setData(lines);
  const after = spanOf(plot);
  if (shown === null || before === null || after === null) return;
  const isZoomed = shown.min > before.min || shown.max < before.max;
  const isSame = Math.abs(after.max - after.min - (before.max - before.min)) < 0.1 * (after.max - after.min);
  if (isZoomed && isSame) plot.setScale('x', zoomed(shown, after, 1, 0));
}

const HEIGHT = 96;
/** A history with longer steps covers several days, so its axis shows dates. */
const DAY_STEP_SECONDS = 300;
const styleOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Shows a figure over time. Its name has the last and the extreme values, for a person who cannot see the line. */
export function Trend({ title, history, of, against, format = formatNumber, top = 1 }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const pointed = useRef<HTMLSpanElement>(null);
  const drawn = useRef(history);
  drawn.current = history;
  /** Writes the values under the pointer beside the caption. */
  const point = ({ data, cursor }: uPlot) => {
    const idx = cursor.idx ?? null;
    const at = idx === null ? undefined : data[0][idx];
    const values = idx === null ? [] : data.slice(1).map((line) => line[idx] ?? null);
    if (pointed.current !== null)
      pointed.current.textContent =
        at === undefined
          ? ''
          : texts.trend.pointed(
              formatInstant(new Date(at * 1_000), new Date()),
              values.map((value) => (value === null ? texts.values.none : format(value))),
            );
  };
  const plot = useRef<uPlot | null>(null);
  const figures = against === undefined ? [of] : [of, against.of];
  // `figures` is a new list at every render, but a chart always shows the same figures. So only `history` is a dependency.
  const lines = useMemo(() => history && linesOf(history, figures), [history]);
  const days = (history?.stepSeconds ?? 0) > DAY_STEP_SECONDS;
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      const data = plot.current?.data ?? [[], ...figures.map(() => [])];
      plot.current?.destroy();
      const options: uPlot.Options = {
        ...optionsOf(current.clientWidth, figures.length, top, days, format),
        hooks: { setCursor: [point], drawClear: [(chart) => drawBands(chart, drawn.current)] },
      };
      plot.current = new uPlot(options, data, current);
    };
    draw();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: current.clientWidth, height: HEIGHT }),
    );
    resized.observe(current);
    dark.addEventListener('change', draw);
    return () => {
      dark.removeEventListener('change', draw);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [days]);
  useEffect(() => {
    if (lines !== undefined && plot.current !== null) redraw(plot.current, lines);
  }, [lines, days]);
  const values = (lines?.[1] ?? []).filter((value) => value !== null);
  const text =
    lines === undefined
      ? texts.trend.loading
      : values.length === 0
        ? texts.trend.noValues
        : texts.trend.values(
            format(values.at(-1)!),
            format(Math.min(...values)),
            format(Math.max(...values)),
          );
  const name = against === undefined ? title : texts.trend.withDashed(title, against.name);
  const last = values.length === 0 ? text : format(values.at(-1)!);
  return (
    <figure className="trend">
      <figcaption>
        {name}: <strong>{last}</strong>
        <span ref={pointed} aria-hidden="true" />
      </figcaption>
      <div ref={box} role="img" aria-label={texts.trend.label(name, text)} />
    </figure>
  );
}

function optionsOf(
  width: number,
  count: number,
  top: number,
  days: boolean,
  format: (value: number) => string,
): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: styleOf('--soft'),
    grid: { stroke: styleOf('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  // A value between two gaps belongs to no line, so it is shown as a point.
  const points: uPlot.Series.Points = {
    show: true,
    size: 5,
    filter: (plot, index) => loneOf(plot.data[index]!),
  };
  const lines: uPlot.Series[] = [
    { stroke: styleOf('--accent'), width: 2, points },
    { stroke: styleOf('--soft'), width: 1, dash: [4, 4], points: { show: false } },
  ];
  return {
    width,
    height: HEIGHT,
    // Dragging zooms, a double click ends that.
    cursor: { sync: { key: GROUP }, y: false },
    legend: { show: false },
    // Leaves space for half of the last label, whose centre may be at the end of the axis.
    padding: [8, 24, 0, 0],
    scales: { y: { range: (_plot, _least, greatest) => [0, Math.max(top, greatest * 1.1)] } },
    axes: [
      { ...axis, size: 24, space: 80, values: days ? '{D} {MMM}' : '{HH}:{mm}' },
      { ...axis, size: 64, space: 28, values: (_plot, values) => values.map(format) },
    ],
    series: [{}, ...lines.slice(0, count)],
  };
}

/** Draws the steps in which something was wrong behind the lines. */
function drawBands({ ctx, bbox, valToPos }: uPlot, history: History | undefined): void {
  ctx.fillStyle = styleOf('--attention-back');
  for (const { at, reasons } of history?.points ?? []) {
    if (reasons.length === 0) continue;
    const from = Date.parse(at) / 1_000;
    const [left, right] = [from, from + history!.stepSeconds].map((each) =>
      Math.min(bbox.left + bbox.width, Math.max(bbox.left, valToPos(each, 'x', true))),
    ) as [number, number];
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
}

/** Returns the indices of the values without a neighbour. */
const loneOf = (values: uPlot.AlignedData[number]): number[] =>
  [...values.keys()].filter((index) => {
    const isGap = (at: number) => (values[at] ?? null) === null;
    return !isGap(index) && isGap(index - 1) && isGap(index + 1);
  });
