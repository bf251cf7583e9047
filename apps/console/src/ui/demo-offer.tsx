import { useNavigate, useParams } from '@tanstack/react-router';
import { Button } from './parts';

/** Leads from a page that is empty to the example that can fill it. */
export function DemoOffer() {
  const { w = '-' } = useParams({ strict: false });
  const navigate = useNavigate();
  return (
    <p>
      Or look at an example first:{' '}
      <Button onClick={() => void navigate({ to: '/o/$w/demo', params: { w } })}>Fill with an example …</Button>
    </p>
  );
}
