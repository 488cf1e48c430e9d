import { lazy, useState, type ComponentType } from 'react';

/**
 * Returns a component that is loaded when it is first shown, or earlier by `load`. Once loaded, it is shown at once: what React has to wait
 * for, it shows after 300 ms at the earliest.
 */
export function loaded<Props extends object>(read: () => Promise<ComponentType<Props>>) {
  let component: ComponentType<Props> | undefined;
  const load = async () => ({ default: (component ??= await read()) });
  const Later = lazy(load);
  function Shown(props: Props) {
    // Stays the same, because another component would lose its state.
    const [Component] = useState<ComponentType<Props>>(() => component ?? Later);
    return <Component {...props} />;
  }
  return Object.assign(Shown, { load });
}
