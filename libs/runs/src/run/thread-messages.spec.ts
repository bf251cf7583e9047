import fc from 'fast-check';
import { threadMessages } from './thread-messages';

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

describe('The messages of a thread', () => {
  it('are those of inputs and outputs, turn by turn', () => {
    expect(
      threadMessages([
        { inputs: { messages: [user('a')] }, outputs: { messages: [assistant('b')] } },
        { inputs: { messages: [user('c')] }, outputs: { choices: [{ message: assistant('d') }] } },
      ]),
    ).toEqual([user('a'), assistant('b'), user('c'), assistant('d')]);
  });

  it('come once when outputs or inputs repeat those before, in the words of another framework too', () => {
    const human = (content: string) => ({ type: 'human', content, id: content });
    const ai = (content: string) => ({ type: 'ai', content, id: content, tool_calls: [] });
    const messages = [human('a'), ai('b'), human('c'), ai('d')];
    expect(
      threadMessages([
        { inputs: { messages: [user('a')] }, outputs: { messages: messages.slice(0, 2) } },
        { inputs: { messages: [user('c')] }, outputs: { messages } },
        { inputs: { messages: [...messages, user('e')] }, outputs: { messages: [assistant('f')] } },
      ]),
    ).toEqual([...messages, user('e'), assistant('f')]);
  });

  it('are made of inputs and outputs that hold none', () => {
    expect(
      threadMessages([
        { inputs: { question: 'a' }, outputs: { answer: 'b', score: 1 } },
        { inputs: 'c', outputs: null },
        { inputs: {}, outputs: undefined },
      ]),
    ).toEqual([user('a'), assistant('{"answer":"b","score":1}'), user('c')]);
  });

  it('are unwrapped where LangChain serialized them', () => {
    const id = ['langchain_core', 'messages', 'HumanMessage'];
    const wrapped = { lc: 1, type: 'constructor', id, kwargs: { content: 'a' } };
    const generation = { text: 'b', message: { ...wrapped, id: ['x', 'AIMessageChunk'], kwargs: { content: 'b' } } };
    expect(threadMessages([{ inputs: { messages: [[wrapped]] }, outputs: { generations: [[generation]] } }])).toEqual([
      { type: 'human', content: 'a' },
      { type: 'ai', content: 'b' },
    ]);
    expect(threadMessages([{ inputs: { messages: [['user', 'a']] }, outputs: null }])).toEqual([user('a')]);
  });

  it('are all there, in their order, whether each run has the new ones or all so far', () => {
    const turn = fc.tuple(fc.string(), fc.string());
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), fc.boolean(), (texts, cumulative) => {
        const unlike = texts.map(([a, b], nth) => [user(`${nth} ${a}`), assistant(`${nth} ${b}`)] as const);
        const turns = unlike.map(([asked, said], nth) => ({
          inputs: { messages: [asked] },
          outputs: { messages: cumulative ? unlike.slice(0, nth + 1).flat() : [said] },
        }));
        expect(threadMessages(turns)).toEqual(unlike.flat());
      }),
    );
  });

  it('are found in linear time where they are all alike', () => {
    const messages = Array.from({ length: 50_000 }, () => user('again'));
    const turn = { inputs: { messages }, outputs: { messages: [...messages, assistant('once')] } };
    expect(threadMessages([turn, turn]).at(-1)).toEqual(assistant('once'));
  });
});
