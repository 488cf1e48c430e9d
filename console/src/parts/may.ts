import { createContext, useContext } from 'react';
import { mayIn, type May } from '../rules/scopes.js';

/** The scopes of the person who is signed in. They decide what is shown; the service decides what is allowed. */
export const MayContext = createContext<May>(mayIn([]));

export const useMay = (): May => useContext(MayContext);
