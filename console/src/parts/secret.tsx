import { Button, Group } from '@mantine/core';
import { texts } from '../texts.js';
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
    <p>{texts.secret}</p>
    <pre>{secret}</pre>
    <Group gap="xs" justify="flex-end" mt="md">
      <Button size="sm" variant="filled" onClick={() => void copy(secret)}>
        {texts.buttons.copy}
      </Button>
      <Button size="sm" onClick={onClose}>
        {texts.buttons.close}
      </Button>
    </Group>
  </Window>
);
