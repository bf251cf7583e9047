import { Controller, Get, HttpCode, Module, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Scope } from '@fairlead/api';
import { readStream } from '..';

/** Lets requests wait until the test lets them go on. */
class Held {
  private waiting: (() => void)[] = [];
  private watching: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      for (const wake of this.watching.splice(0)) wake();
    });
  }

  /** Resolves when so many wait. */
  async reached(count: number): Promise<void> {
    while (this.waiting.length < count) await new Promise<void>((resolve) => this.watching.push(resolve));
  }

  letGo(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

export const held = new Held();

@Controller()
class EdgeController {
  @Get('v2/address')
  @Scope('read')
  address(@Req() request: FastifyRequest) {
    return { address: request.ip, protocol: request.protocol };
  }

  @Get('v2/open')
  @Scope('public')
  open() {
    return {};
  }

  @Get('v2/held')
  @Scope('read')
  async held() {
    await held.wait();
    return {};
  }

  @Get('v2/wait')
  @Scope('read', { load: 'wait' })
  async wait() {
    await held.wait();
    return {};
  }

  @Post('v2/upload')
  @Scope('write', { load: 'upload' })
  @HttpCode(200)
  async upload() {
    await held.wait();
    return {};
  }

  @Post('v2/query')
  @Scope('read')
  @HttpCode(200)
  query() {
    return {};
  }

  @Post('v2/streamed')
  @Scope('read', { stream: true })
  @HttpCode(200)
  async streamed(@Req() request: FastifyRequest) {
    return { bytes: (await readStream(request, 1024 * 1024)).length };
  }

  @Get('v2/large')
  @Scope('read')
  large() {
    return Buffer.alloc(64 * 1024 * 1024, 'x');
  }

  @Get('health/live')
  @Scope('public', { load: 'vital' })
  live() {
    return { status: 'live' };
  }
}

@Module({ controllers: [EdgeController] })
export class EdgeModule {}
