import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Action } from '../../ui/action';
import { Facts, Section } from '../../ui/list';
import { Copy, Text, Time } from '../../ui/parts';
import { useWorkspace } from './data';
import css from './deployments.module.css';
import { DeleteDialog } from './plans';
import { type Shown, SOURCES } from './words';

/** Configuration of a deployment, and its deletion. */
export function Settings({ deployment }: Shown) {
  const [deleting, setDeleting] = useState(false);
  const navigate = useNavigate();
  const w = useWorkspace();
  const { id, name, source, source_config, agent, created_at, status } = deployment;
  const { resource_spec, listener_config, ...config } = source_config;
  const text = (value: unknown) =>
    value === null || value === undefined ? undefined : (
      <Text>{typeof value === 'string' ? value : JSON.stringify(value)}</Text>
    );
  return (
    <>
      <Section title="Source">
        <Facts
          facts={{
            Source: SOURCES[source],
            Repository: text(config.repo_url),
            Integration: text(config.integration_id),
            'Deploy each push': source === 'codehost' ? (config.build_on_push ? 'yes' : 'no') : undefined,
            Type: text(config.deployment_type),
            'Install command': text(config.install_command),
            'Build command': text(config.build_command),
            Listener: text(config.listener_id),
            Namespace: text(listener_config?.cluster_namespace),
            Agent: agent && text(`${agent.agent_id} in ${agent.environment}`),
            Address: text(config.custom_url),
            Created: <Time at={created_at} />,
          }}
        />
      </Section>
      <Section title="Resources">
        {resource_spec && Object.values(resource_spec).some((value) => value !== null) ? (
          <Facts
            facts={Object.fromEntries(Object.entries(resource_spec).map(([member, value]) => [member, text(value)]))}
          />
        ) : (
          <p className={css.quiet}>None are set: those of the executor apply.</p>
        )}
      </Section>
      <Section title="Identifier">
        <p className={css.inline}>
          <code>{id}</code>
          <Copy kind="quiet" text={id}>
            Copy
          </Copy>
        </p>
      </Section>
      <Section title="Delete">
        <p className={css.lead}>What runs is taken away. The history stays.</p>
        <Action scope="write" onClick={() => setDeleting(true)} disabled={status === 'AWAITING_DELETE'}>
          Delete <Text>{name}</Text> …
        </Action>
      </Section>
      {deleting && (
        <DeleteDialog
          deployment={deployment}
          onClose={() => setDeleting(false)}
          onDeleted={() => void navigate({ to: '/o/$w/host/deployments', params: { w } })}
        />
      )}
    </>
  );
}
