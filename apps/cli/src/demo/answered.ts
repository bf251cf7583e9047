import type { Agent } from './agents';
import { chance, identifier } from './chance';
import type { Question } from './questions';
import { type Feedback, type Run, runsOf, type Step, tokens, type Trace, usage } from './runs';
import { MARK } from './mark';

interface Place {
  readonly id: string;
  readonly at: number;
  readonly repetition: number;
  readonly example: string;
}

const JUDGE = { type: 'model', metadata: { judge: 'large-2', rubric: 'support answers, version 4' } } as const;
const METER = { type: 'api', metadata: { price_list: '2026-01' } } as const;
const TIMEOUT = `TimeoutError: the web search did not answer within 10 s
    at search (tools/web-search.ts:41:11)
    at answer (agent.ts:88:20)`;

/** One answer of an agent in an experiment, with the scores of a judge. */
export function answered(agent: Agent, question: Question, { id, at, repetition, example }: Place): Trace {
  const roll = (what: string) => chance(agent.name, what, question.number, repetition);
  const errs = repetition === 0 ? agent.errs(question) : agent.errs(question) !== roll('again') < 0.25;
  const fails = agent.searches === true && roll('fails') < 0.07;
  const text = agent.says(errs ? question.wrong : question.right);
  const takes = Math.round(agent.takes * (0.7 + 0.8 * roll('takes') ** 2));
  const messages = [
    { role: 'system', content: agent.prompt },
    { role: 'user', content: question.ask },
  ];
  const read = 620 + tokens(agent.prompt + question.ask + question.reference);
  const used = usage(read, tokens(text), agent.prices);
  const documents = [{ page_content: question.reference, metadata: { article: question.topic.name } }];
  const searched = agent.searches === true ? [search(question, fails, takes)] : [];
  const end = fails ? 10_400 : takes;
  const steps: [Step, ...Step[]] = [
    {
      ...{ name: 'answer', run_type: 'chain', from: 0, to: end },
      inputs: { topic: question.topic.name, question: question.ask },
      ...(fails ? { error: TIMEOUT } : { outputs: { answer: text } }),
      metadata: { model: agent.model, prompt: agent.promptVersion },
    },
    {
      ...{ name: 'search_help_centre', run_type: 'retriever', from: 20, to: 180 + Math.round(90 * roll('search')) },
      ...{ inputs: { query: question.ask }, outputs: { documents } },
    },
    ...searched,
  ];
  if (!fails) {
    steps.push({
      ...{ name: agent.model, run_type: 'llm', from: end - Math.round(takes * 0.6), to: end - 10 },
      firstToken: end - Math.round(takes * 0.45),
      inputs: { messages },
      outputs: { choices: [{ message: { role: 'assistant', content: text } }], usage_metadata: used },
      metadata: { ls_model_name: agent.model, ls_temperature: 0.2 },
    });
  }
  const [root, ...below] = runsOf(id, at, MARK, steps) as [Run, ...Run[]];
  const tags = [question.topic.tool, ...(repetition > 0 ? ['repetition'] : [])];
  const runs = [{ ...root, reference_example_id: example, tags }, ...below];
  if (fails) return { runs, feedback: [] };
  const helpful = Number(((errs ? 0.1 : 0.7) + Math.floor(roll('helpful') * 4) / 10).toFixed(1));
  const feedback = (key: string, score: number, more: Pick<Feedback, 'feedback_source' | 'comment'>) => ({
    ...{ id: identifier(id, key), run_id: id, trace_id: id, key, score },
    ...more,
  });
  return {
    runs,
    feedback: [
      feedback('correct', errs ? 0 : 1, {
        comment: errs ? question.fault : praise(question, roll('praise')),
        feedback_source: JUDGE,
      }),
      feedback('helpful', helpful, { feedback_source: JUDGE }),
      feedback('cost', used.total_cost, { feedback_source: METER }),
    ],
  };
}

/** The judge's words on a correct answer. */
function praise({ reference }: Question, roll: number): string {
  const [first] = reference.split(/(?<=\.)\s/) as [string];
  return roll < 0.5 ? `Says what the reference says: ${first}` : 'Agrees with the reference and leaves nothing out.';
}

function search({ ask, topic }: Question, fails: boolean, takes: number): Step {
  const place = { name: 'web_search', run_type: 'tool', from: 300, inputs: { query: ask, limit: 3 } } as const;
  if (fails) return { ...place, to: 10_300, error: TIMEOUT };
  const results = [{ title: `${topic.name} · Harbour & Pine`, url: 'https://shop.example/help' }];
  return { ...place, to: Math.round(takes * 0.38), outputs: { results } };
}
