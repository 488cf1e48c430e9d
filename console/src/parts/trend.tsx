import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { TrendPoint } from '../api/history.js';
import 'uplot/dist/uPlot.min.css';

interface Props {
  /** What the picture shows, with the unit. */
  readonly title: string;
  readonly points: readonly TrendPoint[];
}

const HEIGHT = 96;
/** A shorter time is shown as a part of this. */
const SHORTEST_SECONDS = 600;
const styleOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A line over time. A person who does not see it reads its last, least and greatest value. */
export function Trend({ title, points }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(current.clientWidth), [[], []], current);
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
  }, []);
  useEffect(() => {
    const last = points.at(-1);
    if (last === undefined) return;
    const times = points.map(({ at }) => at.getTime() / 1_000);
    const values = points.map(({ value }) => value);
    // The pictures of a page that was just opened have room for what comes, instead of one point as wide as a day.
    const firstAt = last.at.getTime() / 1_000 - SHORTEST_SECONDS;
    const isShort = times[0]! > firstAt;
    plot.current?.setData(
      isShort
        ? [
            [firstAt, ...times],
            [null, ...values],
          ]
        : [times, values],
    );
  }, [points]);
  const values = points.map(({ value }) => value);
  const text =
    values.length === 0
      ? 'no values yet'
      : `last ${values.at(-1)}, least ${Math.min(...values)}, greatest ${Math.max(...values)}`;
  return (
    <figure className="trend">
      <figcaption>{title}</figcaption>
      <div ref={box} role="img" aria-label={`${title}: ${text}`} />
    </figure>
  );
}

function optionsOf(width: number): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: styleOf('--soft'),
    grid: { stroke: styleOf('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT,
    cursor: { show: false },
    legend: { show: false },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_plot, _least, greatest) => [0, Math.max(1, greatest * 1.1)] } },
    axes: [
      { ...axis, size: 24, space: 80, values: '{HH}:{mm}' },
      { ...axis, size: 44, space: 28 },
    ],
    series: [
      {},
      { stroke: styleOf('--accent'), width: 2, points: { show: ({ data }) => data[0].length < 4 } },
    ],
  };
}
