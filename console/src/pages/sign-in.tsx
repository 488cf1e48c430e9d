import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { signInByKey, type SignInBy } from '../api/sign-in.js';
import { failureOf } from '../parts/loaded.js';
import { PREFIX } from '../rules/prefix.js';
import { texts } from '../texts.js';

interface Props {
  readonly signIn: SignInBy;
  /** Whether the session of a person has ended on this page. */
  readonly isAgain: boolean;
  readonly onSignedIn: () => void;
}

export function SignInPage({ signIn, isAgain, onSignedIn }: Props) {
  return (
    <main className="sign-in">
      <h1>{texts.app.name}</h1>
      {isAgain && <p>{texts.signIn.isOver}</p>}
      {signIn === 'oidc' ? (
        <>
          <p>{texts.signIn.withAccount}</p>
          <Button
            component="a"
            size="sm"
            variant="filled"
            href={`${PREFIX}/console/sign-in`}
            // This tab still has what the person has begun, and goes on when the person returns to it.
            target={isAgain ? '_blank' : undefined}
          >
            {texts.buttons.signIn}
          </Button>
        </>
      ) : (
        <ByKey onSignedIn={onSignedIn} />
      )}
    </main>
  );
}

function ByKey({ onSignedIn }: Pick<Props, 'onSignedIn'>) {
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    setBusy(true);
    const refusal = await signInByKey(typeof key === 'string' ? key.trim() : '').catch(failureOf);
    setBusy(false);
    setFailure(refusal);
    if (refusal === null) onSignedIn();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <p>{texts.signIn.withKey}</p>
      <TextInput
        ref={input}
        id="key"
        name="key"
        type="password"
        label={texts.titles.apiKey}
        withAsterisk={false}
        autoComplete="off"
        required
        spellCheck={false}
      />
      {failure !== null && (
        <p className="failure" role="alert">
          {failure}
        </p>
      )}
      <Button size="sm" variant="filled" type="submit" disabled={isBusy}>
        {texts.buttons.signIn}
      </Button>
    </form>
  );
}
