import { Degradation } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { ScriptedExecutor } from '../testing/scripted-executor';
import { ExecutorCheck } from './executor-check.worker';

it('says what keeps the executor from working, and stops with the process', async () => {
  const degradation = new Degradation();
  const executor = Object.assign(new ScriptedExecutor(), { check: async () => 'The cluster has no namespace agents.' });
  const check = new ExecutorCheck(executor, degradation);
  check.onApplicationBootstrap();
  expect(
    await until(
      () => degradation.reasons(),
      ({ length }) => length > 0,
    ),
  ).toEqual([{ what: 'EXECUTOR=scripted does not work', why: 'The cluster has no namespace agents' }]);
  await check.onModuleDestroy();
});

it('says nothing of an executor that works, or that cannot be checked', async () => {
  const degradation = new Degradation();
  const check = jest.fn(async () => undefined);
  const works = new ExecutorCheck(Object.assign(new ScriptedExecutor(), { check }), degradation);
  const unchecked = new ExecutorCheck(new ScriptedExecutor(), degradation);
  works.onApplicationBootstrap();
  unchecked.onApplicationBootstrap();
  await until(() => check.mock.calls.length > 0);
  await works.onModuleDestroy();
  await unchecked.onModuleDestroy();
  expect(degradation.reasons()).toEqual([]);
});
