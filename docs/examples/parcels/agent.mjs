import { createServer } from 'node:http';
import { answer } from './answer.mjs';

createServer((request, response) => {
  const { searchParams } = new URL(request.url, 'http://agent');
  response.end(`${answer(searchParams.get('question') ?? '')}\n`);
}).listen(process.env.PORT, '127.0.0.1');
