// A LangGraph agent of one step, which needs no model: it greets.
import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ name: Annotation(), said: Annotation() });

export const graph = new StateGraph(State)
  .addNode('greet', ({ name }) => ({ said: `${process.env.GREETING}, ${name}` }))
  .addEdge('__start__', 'greet')
  .compile();
