import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { readAgain } from '../api/queries.js';
import type { Subject } from '../rules/invalidation.js';
import type { Target } from '../rules/stalled.js';
import { Dialog } from './dialog.js';
import { Failure } from './loaded.js';
import { tellDone, tellFailed } from './notify.js';

interface Props<Result> {
  readonly label: string;
  /** The label of the button in the dialog. Default: `label`. */
  readonly button?: string;
  /** Calls the operation. `form`: what a person has entered in the dialog. */
  readonly run: (form: FormData) => Promise<Result>;
  /** What a person is told afterwards. */
  readonly done: string | ((result: Result) => ReactNode);
  /** The page about the subject or the result, to which what a person is told leads. */
  readonly page: Target | null | ((result: Result) => Target | null);
  /** What has changed, and is read again. */
  readonly changes: readonly Subject[];
  /** What happens and cannot be undone, or the fields that the operation needs. Without it, the button acts at once. */
  readonly ask?: ReactNode;
  readonly isDanger?: boolean;
  readonly isMain?: boolean;
  readonly isDisabled?: boolean;
  /** Whether the dialog is wide. */
  readonly isWide?: boolean;
  readonly onDone?: (result: Result) => void;
}

/** A button that calls an operation of the API. */
export function Act<Result>(props: Props<Result>) {
  const { label, run, done, page, changes, ask, isDanger = false, isMain = false, onDone } = props;
  /** The label when the dialog was opened, which may count what is acted on; null while it is closed. */
  const [opened, setOpened] = useState<string | null>(null);
  /** Null while it is closed, also when the page has been left. */
  const dialog = useRef<HTMLFormElement>(null);
  const act = useMutation({
    mutationFn: run,
    onSuccess: (result) => {
      setOpened(null);
      tellDone(
        typeof done === 'string' ? done : done(result),
        typeof page === 'function' ? page(result) : page,
      );
      onDone?.(result);
    },
    onError: (error) => dialog.current === null && tellFailed(error),
    onSettled: readAgain(changes),
  });
  const open = () => (act.reset(), setOpened(label));
  return (
    <>
      <Button
        variant={isMain ? 'filled' : isDanger ? 'light' : 'default'}
        color={isDanger ? 'red' : undefined}
        disabled={act.isPending || props.isDisabled}
        onClick={() => (ask === undefined ? act.mutate(new FormData()) : open())}
      >
        {label}
      </Button>
      {opened !== null && (
        <Dialog
          ref={dialog}
          title={opened}
          button={props.button ?? opened}
          isDanger={isDanger}
          isDisabled={act.isPending}
          isWide={props.isWide}
          onSubmit={(form) => act.mutate(form)}
          onClose={() => setOpened(null)}
        >
          {ask}
          <Failure of={act.error} />
        </Dialog>
      )}
    </>
  );
}

/** Returns a text that a person has entered, or undefined if it is empty. */
export function textIn(form: FormData, name: string): string | undefined {
  const value = form.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
