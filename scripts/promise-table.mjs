const HEADINGS = ['id', 'promise', 'result', 'measured', 'bound', 'seeded bug caught'];
const WIDTHS = [3, 30, 15, 52, 40, 40];

export function printTable(rows) {
  const line = WIDTHS.map((width) => '-'.repeat(width)).join('  ');
  printRow(HEADINGS.map((heading) => [heading]));
  for (const row of rows) {
    console.log(line);
    // Pads each figure and its bound to the same number of lines.
    const figures = row.figures.map(({ figure, bound }) => [wrap(figure, WIDTHS[3]), wrap(bound, WIDTHS[4])]);
    const padded = figures.map(([figure, bound]) =>
      padTo(Math.max(figure.length, bound.length), figure, bound),
    );
    const hasTests = ['passed', 'failed', 'not proven'].includes(row.result);
    printRow([
      [row.id],
      wrap(row.promise, WIDTHS[1]),
      [row.result],
      padded.flatMap(([figure]) => figure),
      padded.flatMap(([, bound]) => bound),
      wrap(caughtOf(row, hasTests), WIDTHS[5]),
    ]);
  }
  console.log(line);
}

function caughtOf({ seededBugsCaught, isPart }, hasTests) {
  if (seededBugsCaught.length > 0) return `yes: ${seededBugsCaught.join('; ')}`;
  if (!hasTests) return '';
  return isPart ? 'by the files that were not run' : 'no';
}

function printRow(cells) {
  const lines = Math.max(...cells.map((cell) => cell.length));
  for (let index = 0; index < lines; index++) {
    console.log(
      cells
        .map((cell, column) => (cell[index] ?? '').padEnd(WIDTHS[column]))
        .join('  ')
        .trimEnd(),
    );
  }
}

const padTo = (length, ...cells) =>
  cells.map((cell) => [...cell, ...Array.from({ length: length - cell.length }, () => '')]);

function wrap(text, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
