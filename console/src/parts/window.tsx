import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  readonly title: string;
  readonly size?: 'xs' | 'md' | 'lg' | 'xl';
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A window above the page, which takes the focus, closes with Escape, and returns the focus. */
export const Window = ({ title, size = 'md', onClose, children }: Props) => (
  // Locking the scroll bar would add a style element, which the policy of the page forbids.
  <Modal.Root
    opened
    centered
    size={size}
    lockScroll={false}
    transitionProps={{ duration: 0 }}
    onClose={onClose}
  >
    <Modal.Overlay backgroundOpacity={0.55} />
    <Modal.Content>
      <Modal.Body>
        <Modal.Title mb="sm">{title}</Modal.Title>
        {children}
      </Modal.Body>
    </Modal.Content>
  </Modal.Root>
);
