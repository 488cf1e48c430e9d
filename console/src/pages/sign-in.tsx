import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { signInByKey, type SignInBy } from '../api/sign-in.js';
import { PREFIX } from '../rules/prefix.js';

interface Props {
  readonly signIn: SignInBy;
  readonly onSignedIn: () => void;
}

export function SignInPage({ signIn, onSignedIn }: Props) {
  return (
    <main className="sign-in">
      <h1>PV Onboarding</h1>
      {signIn === 'oidc' ? (
        <>
          <p>Sign in with your account of the company.</p>
          <Button component="a" size="sm" variant="filled" href={`${PREFIX}/console/sign-in`}>
            Sign in
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
    const refusal = await signInByKey(typeof key === 'string' ? key.trim() : '').catch(
      () => 'The service cannot be reached.',
    );
    setBusy(false);
    setFailure(refusal);
    if (refusal === null) onSignedIn();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <p>
        Sign in with an API key. Its scopes decide what you see. The key is exchanged for a session of 12
        hours, and is not stored in the browser.
      </p>
      <TextInput
        ref={input}
        id="key"
        name="key"
        type="password"
        label="API key"
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
        Sign in
      </Button>
    </form>
  );
}
