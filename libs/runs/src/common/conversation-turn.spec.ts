import { lastTurn } from './conversation-turn';

const said = (role: string, content: unknown) => ({ role, content });

describe('The last turn of a conversation', () => {
  it('is found in the formats that clients send', () => {
    const question = 'When does it come?\nI wait "long".';
    const user = { role: 'user', text: question };
    const conversations = [
      { messages: [said('system', 'Be kind.'), said('user', question), said('assistant', 'Soon.')] },
      { messages: [[{ type: 'human', content: question }]] },
      { messages: [{ type: 'human', data: { content: question } }] },
      { messages: [{ lc: 1, id: ['langchain', 'HumanMessage'], kwargs: { content: question } }] },
      { k: 8, input: said('user', [{ type: 'text', text: question }, { type: 'image_url' }]) },
      { history: [said('user', 'before'), said('user', question)], tools: [{ type: 'function' }] },
    ];
    for (const conversation of conversations) expect(lastTurn(JSON.stringify(conversation), 'user')).toEqual(user);
    expect(lastTurn(JSON.stringify(conversations[0]))).toEqual({ role: 'assistant', text: 'Soon.' });
  });

  it('is the last one with a text: a call of a tool has none', () => {
    const messages = [said('assistant', 'I look.'), { ...said('assistant', null), tool_calls: [{ id: '1' }] }];
    expect(lastTurn(JSON.stringify({ messages }))).toEqual({ role: 'assistant', text: 'I look.' });
  });

  it('is found where only the end of a text is known, wherever that begins', () => {
    const messages = [said('user', 'x { "role": "user" } y'), said('user', [{ text: '{"content":"a"}' }])];
    const text = JSON.stringify({ messages, more: [{ role: 'none' }] });
    const start = text.lastIndexOf('{"role":"user"');
    for (let from = 0; from <= start; from++) {
      expect(lastTurn(text.slice(from), 'user')).toEqual({ role: 'user', text: '{"content":"a"}' });
    }
  });

  it('is none in other texts', () => {
    for (const text of [null, '', '{', '{"role":"admin"}', '{"role":"user","content":1}', '{"messages":["a"]}', '"}{'])
      expect(lastTurn(text)).toBeUndefined();
  });

  it('is cut to a kilobyte', () => {
    expect(lastTurn(JSON.stringify(said('user', 'x'.repeat(5000))))!.text).toHaveLength(1022);
  });
});
