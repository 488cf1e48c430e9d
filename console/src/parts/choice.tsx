import { NativeSelect } from '@mantine/core';

interface Props {
  readonly label: string;
  readonly value: string;
  /** The values, each with its label. */
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChoice: (value: string) => void;
}

/** A filter of a list. */
export const Choice = ({ label, value, options, onChoice }: Props) => (
  <NativeSelect
    size="xs"
    label={label}
    value={value}
    data={options.map(([each, words]) => ({ value: each, label: words }))}
    onChange={(event) => onChoice(event.currentTarget.value)}
  />
);
