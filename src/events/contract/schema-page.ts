import { EVENT_NAMES } from '../catalogue.rules.js';
import { toEventType } from '../cloud-event.js';
import { schemaOfEvent, type JsonSchema } from './schema-document.js';

const SECTION = /(<!-- schemas -->\n).*?(<!-- \/schemas -->)/s;

/** Returns the page with the data schemas of all events between its two markers. */
export function withSchemas(page: string): string {
  if (!SECTION.test(page))
    throw new Error('docs/events.md has no place <!-- schemas --> … <!-- /schemas -->');
  const sections = EVENT_NAMES.map((name) => {
    const { data } = schemaOfEvent(name).properties as { data: JsonSchema };
    return `<details><summary><code>${toEventType(name)}</code></summary>\n\n\`\`\`json\n${linePerField(data)}\n\`\`\`\n\n</details>\n`;
  });
  return page.replace(
    SECTION,
    (_all, begin: string, end: string) =>
      `${begin}<!-- prettier-ignore-start -->\n\n${sections.join('\n')}\n<!-- prettier-ignore-end -->\n${end}`,
  );
}

/** Returns JSON with one line per field, so that the page stays readable. */
function linePerField({ properties, ...rest }: JsonSchema): string {
  const fields = Object.entries(properties as object).map(
    ([name, schema]) => `    ${JSON.stringify(name)}: ${JSON.stringify(schema)}`,
  );
  const others = Object.entries(rest).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `{\n${[...others, `  "properties": {\n${fields.join(',\n')}\n  }`].join(',\n')}\n}`;
}
