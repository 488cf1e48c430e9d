import { partsOf, type Part } from '../rules/sentence.js';
import { Instant } from './time.js';

/** Shows a sentence of the API. Formats its calls as code, and its instants in the time zone of the viewer. */
export const Sentence = ({ text }: { readonly text: string }) => (
  <span>
    {partsOf(text).map((part, index) => (
      <Piece key={index} of={part} />
    ))}
  </span>
);

function Piece({ of: { text, kind } }: { readonly of: Part }) {
  switch (kind) {
    case 'call':
      return <code>{text}</code>;
    case 'instant':
      return <Instant at={text} />;
    case 'words':
      return text;
  }
}
