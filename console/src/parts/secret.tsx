import { Button, Group } from '@mantine/core';
import { copy } from './copy.js';
import { Window } from './window.js';

interface Props {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a secret once. The page forgets it when the window is closed. */
export const Secret = ({ title, secret, onClose }: Props) => (
  <Window title={title} size="lg" onClose={onClose}>
    <p>Copy it now. It is shown once; the service stores no copy that can be read.</p>
    <pre>{secret}</pre>
    <Group gap="xs" justify="flex-end" mt="md">
      <Button size="sm" variant="filled" onClick={() => void copy(secret)}>
        Copy
      </Button>
      <Button size="sm" onClick={onClose}>
        Close
      </Button>
    </Group>
  </Window>
);
