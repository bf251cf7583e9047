import type { ComponentProps } from 'react';
import { useMay } from '../api/session';
import { Button } from './parts';

/** A button for what needs a scope; without it, the button says which one. */
export function Action({
  scope,
  disabled,
  title,
  ...rest
}: ComponentProps<typeof Button> & { scope: 'write' | 'admin' | 'invoke' }) {
  const may = useMay(scope);
  return <Button {...rest} disabled={disabled || !may} title={may ? title : `Your key lacks the scope ${scope}.`} />;
}
