import { Alert, Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { texts } from '../texts.js';

interface Props {
  readonly children: ReactNode;
}

/**
 * Shows in place of a page that it cannot be shown, and what a person can do. After an update of the service, the files of pages that were
 * not yet opened are gone, and a response may have values that this release does not know.
 */
export class Boundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError = () => ({ hasFailed: true });

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Alert color="red" className="failure">
        {texts.app.cannotBeShown}{' '}
        <Button onClick={() => window.location.reload()}>{texts.buttons.loadAnew}</Button>
      </Alert>
    );
  }
}
