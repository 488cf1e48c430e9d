interface Props {
  readonly label: string;
  readonly value: string;
  /** The values, each with its label. */
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChoice: (value: string) => void;
}

/** A filter of a list. */
export const Choice = ({ label, value, options, onChoice }: Props) => (
  <label>
    {label}
    <select value={value} onChange={(event) => onChoice(event.target.value)}>
      {options.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  </label>
);
