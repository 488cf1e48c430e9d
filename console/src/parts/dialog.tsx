import { Button, Group, Stack } from '@mantine/core';
import type { FormEvent, ReactNode, Ref } from 'react';
import { texts } from '../texts.js';
import { Window } from './window.js';

interface Props {
  readonly ref?: Ref<HTMLFormElement>;
  readonly title: string;
  /** The label of the button that submits the form. */
  readonly button: string;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly isWide?: boolean;
  readonly onSubmit: (form: FormData) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form in a dialog, which takes the focus, closes with Escape, and returns the focus. */
export function Dialog(props: Props) {
  const { title, button, isDanger = false, isDisabled = false, isWide = false } = props;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    props.onSubmit(new FormData(event.currentTarget));
  };
  return (
    <Window title={title} size={isWide ? 'lg' : 'md'} onClose={props.onClose}>
      <form ref={props.ref} onSubmit={submit}>
        <Stack>
          {props.children}
          <Group gap="xs" justify="flex-end">
            <Button size="sm" onClick={props.onClose}>
              {texts.buttons.goBack}
            </Button>
            <Button
              size="sm"
              variant="filled"
              type="submit"
              color={isDanger ? 'red' : undefined}
              disabled={isDisabled}
            >
              {button}
            </Button>
          </Group>
        </Stack>
      </form>
    </Window>
  );
}
