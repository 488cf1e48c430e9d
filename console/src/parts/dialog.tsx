import { useEffect, useId, useRef, type FormEvent, type ReactNode } from 'react';

interface Props {
  readonly title: string;
  /** The label of the button that submits the form. */
  readonly button: string;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly onSubmit: (form: FormData) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form in a dialog of the browser, which takes the focus, closes with Escape, and returns the focus. */
export function Dialog(props: Props) {
  const { title, button, isDanger = false, isDisabled = false, onSubmit, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      <form onSubmit={submit}>
        {children}
        <p className="actions">
          <button type="submit" className={isDanger ? 'danger' : ''} disabled={isDisabled}>
            {button}
          </button>
          <button type="button" className="plain" onClick={onClose}>
            Go back
          </button>
        </p>
      </form>
    </dialog>
  );
}
