import { SecretInput } from '../../../ui/form';
import { Button } from '../../../ui/parts';
import css from '../deployments.module.css';

export interface SecretDraft {
  readonly name: string;
  /** Undefined keeps the stored value. */
  readonly value?: string;
}

/** The secrets by name. A stored value is never shown; another one is written, and not shown again. */
export function SecretFields({
  secrets,
  onChange,
}: {
  secrets: readonly SecretDraft[];
  onChange: (secrets: readonly SecretDraft[]) => void;
}) {
  const set = (at: number, secret: SecretDraft) => onChange(secrets.map((one, index) => (index === at ? secret : one)));
  return (
    <fieldset className={css.secretFields}>
      <legend>Secrets</legend>
      {secrets.map((secret, at) => (
        <div key={at}>
          <input
            aria-label="Name of the secret"
            placeholder="NAME"
            value={secret.name}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => set(at, { ...secret, name: event.target.value })}
          />
          <SecretInput
            aria-label={`New value of ${secret.name || 'the secret'}`}
            placeholder="unchanged"
            value={secret.value ?? ''}
            onChange={(event) => set(at, { ...secret, value: event.target.value || undefined })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove ${secret.name || 'this secret'}`}
            onClick={() => onChange(secrets.filter((_, index) => index !== at))}
          >
            ✕
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...secrets, { name: '' }])}>Add a secret</Button>
    </fieldset>
  );
}
