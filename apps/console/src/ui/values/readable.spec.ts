import { besideTurns, flatText, leaves, previewText, turnsOf } from './readable';

describe('Text of JSON', () => {
  it('has neither braces nor escapes, also where it ends anywhere', () => {
    const json = JSON.stringify({ answer: 'He said "no".\nThen he left.', steps: [{ ms: 330 }], ok: true });
    expect(flatText(json)).toBe('He said "no". Then he left., steps: ms: 330, ok: true');
    for (let end = 0; end <= json.length; end++) expect(flatText(json.slice(0, end))).not.toMatch(/\\|[{}[\]]/);
    expect(flatText('"x\\u0041\\"')).toBe('xA"');
  });

  it('is told leaf by leaf', () => {
    expect(leaves({ a: { b: [1, 'x\ny'] }, c: {} })).toEqual([
      { path: 'a.b[0]', value: 1 },
      { path: 'a.b[1]', value: 'x\ny' },
      { path: 'c', value: {} },
    ]);
    expect(leaves('x')).toEqual([{ path: '', value: 'x' }]);
    expect(leaves(Array.from({ length: 5000 }, () => 1))).toHaveLength(2000);
  });
});

describe('A conversation', () => {
  const calls = [{ function: { name: 'look_up', arguments: '{"order": 1}' } }];

  it('is its turns with their roles, and the tools that are called', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { type: 'human', content: [{ type: 'text', text: 'When?' }] },
      { role: 'assistant', content: null, tool_calls: calls },
      { id: ['langchain', 'ToolMessage'], kwargs: { content: 'soon' } },
    ];
    const turns = [
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: 'When?' },
      { role: 'assistant', text: 'calls look_up: {"order": 1}' },
      { role: 'tool', text: 'soon' },
    ];
    for (const value of [messages, { messages }, { messages: [messages], k: 8 }]) expect(turnsOf(value)).toEqual(turns);
    expect(besideTurns({ messages, k: 8 })).toEqual({ k: 8 });
    expect(besideTurns({ messages })).toBeUndefined();
  });

  it('is one message, or those in the choices and generations of a model', () => {
    const message = { role: 'assistant', content: 'soon', tool_calls: calls };
    const turns = [{ role: 'assistant', text: 'soon\n\ncalls look_up: {"order": 1}' }];
    const generation = { text: 'soon', message: { id: ['langchain', 'AIMessage'], kwargs: message } };
    for (const value of [message, { choices: [{ index: 0, message }] }, { generations: [[generation]] }]) {
      expect(turnsOf(value)).toEqual(turns);
    }
    expect(besideTurns({ ...message, finish: 'stop' })).toEqual({ finish: 'stop' });
    expect(besideTurns(message)).toBeUndefined();
    expect(turnsOf({ role: 'user', name: 'ada' })).toBeUndefined();
  });

  it('is its last turn in a line', () => {
    const json = JSON.stringify({
      messages: [
        { role: 'user', content: 'Where\nis "it"?' },
        { role: 'assistant', content: 'Here.' },
      ],
    });
    expect([previewText(json), previewText(json, 'user')]).toEqual(['Here.', 'Where is "it"?']);
    expect(previewText(json, 'tool')).toBe('Here.');
    expect(previewText(json.slice(0, 60), 'user')).toBe('Where is "it"?');
    expect(previewText('{"question":"Where"}', 'user')).toBe('Where');
  });

  it('is nothing else', () => {
    for (const value of ['x', null, [], {}, { messages: ['x'] }, [{ role: 'admin' }], { a: [1] }]) {
      expect(turnsOf(value)).toBeUndefined();
    }
  });
});
