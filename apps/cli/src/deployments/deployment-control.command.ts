import { examples } from '../output/help';
import type { Command } from 'commander';
import { reasonHeader } from '../api/api';
import { does } from '../api/context';
import { deploymentId } from '../api/lookups';
import { reaches } from '../table/group';

const ACTIONS = {
  stop: ['stop what runs of a deployment, until it is started again', 'being stopped'],
  start: ['start what was stopped', 'being started'],
  restart: ['stop what runs and start it again', 'being restarted'],
} as const;

export function addControl(group: Command): void {
  for (const [action, [about, done]] of Object.entries(ACTIONS)) {
    const command = group
      .command(action)
      .description(about)
      .argument('<deployment>', 'id or name')
      .option('--reason <text>', 'why, for the history');
    examples(command, `deployments ${action} support-agent`);
    reaches(command, `POST /v2/deployments/{deployment_id}/${action}`);
    does<{ reason?: string }>(command, async ({ api, out }, [name], { reason }) => {
      const path = `/v2/deployments/${await deploymentId(api, name!)}/${action}`;
      const { text } = await api.command({ method: 'POST', path, body: '{}', headers: reasonHeader(reason) });
      if (out.json) out.text(text);
      else out.line(`${name} is ${done}; "fairlead deployments health" tells how it is.`);
    });
  }
}
