import { verdictMarkdown } from './verdict-markdown';

const about = {
  deployment_id: 'd',
  revision_id: 'r',
  name: 'agent <b>',
  commit: 'b'.repeat(40),
  standing: 'held by its gates',
  gates: [],
  page: 'https://fairlead.example/o/-/host/deployments/d?revision=r',
};
const criterion = (of: string, outcome: 'promote' | 'hold' | 'refuse', slice: string | null = null) => ({
  ...{ of, slice, limit: 'least difference allowed', threshold: -0.05, outcome, rows: 1200 },
  ...{ mean: -0.01, lower: -0.07, upper: 0.05, detectable: 0.06 },
});
const verdict = (criteria: ReturnType<typeof criterion>[]) => ({
  ...{ gate: 'support', tested: true, outcome: 'hold' as const, reasons: [], criteria },
});

it('tells what was found, the broken limits first, then the comparisons', () => {
  const verdicts = [verdict([criterion('correct', 'promote'), criterion('correct', 'refuse', 'metadata.topic=a|b')])];
  const last = { verdicts, reasons: ['support: @all is broken.'], look: 3, time: '2026-01-01T10:20:30.000Z' };
  expect(verdictMarkdown(about, last, ['## next against base\n\nMore.']).split('\n')).toEqual([
    ...['## agent &lt;b&gt;: held by its gates', ''],
    '[revision](https://fairlead.example/o/-/host/deployments/d?revision=r) · commit bbbbbbbbbb · look 3 at 2026-01-01 10:20 UTC',
    ...['', '- support: @\u200ball is broken.', ''],
    '| gate | of | limit | rows | mean (interval) | limit is |',
    '| --- | --- | --- | ---: | --- | --- |',
    '| support | correct in metadata.topic=a\\|b | least difference allowed −0.05 | 1,200 | −0.01 (−0.07 … 0.05) | broken |',
    '| support | correct | least difference allowed −0.05 | 1,200 | −0.01 (−0.07 … 0.05) | kept |',
    ...['', '### next against base', '', 'More.'],
  ]);
});

it('says that nothing has been looked at, and how much is left out', () => {
  expect(
    verdictMarkdown({ ...about, page: undefined }, undefined, [])
      .split('\n')
      .slice(2),
  ).toEqual([...['commit bbbbbbbbbb', '', 'Nothing has been looked at yet.']]);
  const many = verdict(Array.from({ length: 40 }, (_, number) => criterion(`key ${number}`, 'hold')));
  const reasons = Array.from({ length: 40 }, (_, number) => `reason ${number}`);
  const told = verdictMarkdown(about, { verdicts: [many], reasons, look: 1, time: '2026-01-01T10:20:30Z' }, []);
  expect(told).toContain('- and 30 more\n');
  expect(told).toContain('\n10 more limits are in Fairlead.');
});
