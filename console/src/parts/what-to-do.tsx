import { partsOf } from '../rules/needs.js';

/** An instruction, with its calls of the API as such. */
export const WhatToDo = ({ text }: { readonly text: string }) => (
  <span>
    {partsOf(text).map((part, index) => (part.isCall ? <code key={index}>{part.text}</code> : part.text))}
  </span>
);
