import { BASELINE } from './agents';
import { chance, identifier } from './chance';
import { MARK } from './mark';
import { type Question, QUESTIONS } from './questions';
import { type Run, runsOf, type Step, tokens, type Trace, usage } from './runs';

const COUNT = 48;
const MINUTE = 60_000;

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Conversations of customers with the deployed agent, spread over a time from its start on (ms). */
export function conversations(seed: string, from: number, lasts: number): Trace[] {
  return Array.from({ length: COUNT }, (_, number) => {
    const at = from + Math.round((number * lasts) / (COUNT + 1));
    return conversation(identifier(seed, 'conversation', number), number, at);
  }).flat();
}

/** Each turn of a customer is a trace; the turns of a customer are one thread. */
function conversation(seed: string, number: number, at: number): Trace[] {
  const begin = Math.floor(chance('customer', number) * QUESTIONS.length);
  const first = QUESTIONS[begin]!;
  const others = QUESTIONS.filter(({ thing, topic }) => topic === first.topic && thing === first.thing);
  const asks = [first, ...others.filter((one) => one !== first)].slice(0, 1 + (number % 3));
  const said: Message[] = [];
  return asks.map((question, turn) => {
    const content =
      turn === 0 ? question.ask : `${turn === 1 ? 'Thank you. One more thing:' : 'And also:'} ${question.ask}`;
    said.push({ role: 'user', content });
    const fails = turn === 0 && number % 12 === 5;
    const trace = turnOf(
      identifier(seed, turn),
      { question, number, turn, fails, said: [...said] },
      at + turn * 2 * MINUTE,
    );
    if (!fails) said.push({ role: 'assistant', content: answerOf(question, number) });
    return trace;
  });
}

interface Turn {
  readonly question: Question;
  readonly number: number;
  readonly turn: number;
  readonly fails: boolean;
  /** All messages up to the customer's. */
  readonly said: readonly Message[];
}

function turnOf(id: string, { question, number, turn, fails, said }: Turn, at: number): Trace {
  const { tool, found } = question.topic;
  const roll = (what: string) => chance('turn', what, number, turn);
  const takes = 1700 + Math.round(2600 * roll('takes') ** 3);
  const toolTakes = fails ? 5000 : 250 + Math.round(500 * roll('tool'));
  const error = `TimeoutError: ${tool} did not answer within 5 s\n    at call (tools/shop.ts:27:13)\n    at answer (agent.ts:88:20)`;
  const answer = { role: 'assistant', content: answerOf(question, number) };
  const prompt = { role: 'system', content: BASELINE.prompt };
  const args = { customer: `C-${4100 + number}`, about: question.thing };
  const call = { id: `call-${turn + 1}`, type: 'function', function: { name: tool, arguments: JSON.stringify(args) } };
  const read = 540 + tokens(said.map(({ content }) => content).join(' '));
  const end = fails ? 460 + toolTakes : 460 + toolTakes + takes;
  const steps: [Step, ...Step[]] = [
    {
      ...{ name: 'support agent', run_type: 'chain', from: 0, to: end, inputs: { messages: said } },
      ...(fails ? { error } : { outputs: { messages: [...said, answer] } }),
      metadata: {
        thread_id: `customer-${4100 + number}`,
        topic: question.topic.name,
        channel: roll('channel') < 0.7 ? 'chat' : 'mail',
      },
    },
    {
      ...{
        name: 'choose a tool',
        run_type: 'llm',
        from: 10,
        to: 420,
        firstToken: 190,
        inputs: { messages: [prompt, ...said] },
      },
      outputs: {
        choices: [{ message: { role: 'assistant', content: '', tool_calls: [call] } }],
        usage_metadata: usage(read, 24, BASELINE.prices),
      },
      metadata: { ls_model_name: BASELINE.model },
    },
    {
      ...{ name: tool, run_type: 'tool', from: 430, to: 430 + toolTakes, inputs: args },
      ...(fails ? { error } : { outputs: found }),
    },
  ];
  if (!fails) {
    const told = { role: 'tool', tool_call_id: call.id, content: JSON.stringify(found) };
    steps.push({
      ...{ name: 'write the answer', run_type: 'llm', from: 450 + toolTakes, to: end - 5 },
      firstToken: 450 + toolTakes + Math.round(takes * 0.3),
      inputs: { messages: [prompt, ...said, { role: 'assistant', content: '', tool_calls: [call] }, told] },
      outputs: {
        choices: [{ message: answer }],
        usage_metadata: usage(read + 160, tokens(answer.content), BASELINE.prices),
      },
      metadata: { ls_model_name: BASELINE.model },
    });
  }
  const [root, ...below] = runsOf(id, at, MARK, steps) as [Run, ...Run[]];
  const runs = [{ ...root, tags: [tool, `turn ${turn + 1}`] }, ...below];
  return { runs, feedback: fails ? [] : thumbs(id, question, number, roll('thumbs')) };
}

/** Every third customer says how it was. */
function thumbs(id: string, question: Question, number: number, roll: number): Trace['feedback'] {
  if (roll > 0.33) return [];
  const isBad = BASELINE.errs(question);
  const comment = isBad
    ? 'This is not what your help page says.'
    : roll < 0.1
      ? 'Quick and clear, thank you.'
      : undefined;
  const feedback_source = { type: 'app', metadata: { customer: `C-${4100 + number}` } } as const;
  return [
    {
      id: identifier(id, 'thumbs'),
      run_id: id,
      trace_id: id,
      key: 'thumbs',
      score: isBad ? 0 : 1,
      comment,
      feedback_source,
    },
  ];
}

function answerOf(question: Question, number: number): string {
  const text = BASELINE.says(BASELINE.errs(question) ? question.wrong : question.right);
  return number % 4 === 0 ? `${text} Is there anything else?` : text;
}
