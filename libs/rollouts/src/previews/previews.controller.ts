import { Area, Scope } from '@fairlead/api';
import { APP_PATHS, Passes } from '@fairlead/executors';
import { Controller } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreviewForwarding } from './preview-forwarding.service';

/** The addresses of held revisions where an executor runs programs elsewhere. */
@Area('Deployments')
@Controller()
@Passes(APP_PATHS, Scope('invoke', { stream: true, load: 'wait' }))
export class PreviewsController {
  constructor(private readonly previews: PreviewForwarding) {}

  pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    return this.previews.pass(request, reply);
  }
}
