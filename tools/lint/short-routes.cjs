// A controller reads a request, calls its aggregate and answers. A method with more lines than these does work that belongs
// to the commands, the queries or the service of the aggregate.

const MOST_LINES = 10;

const isController = ({ expression: { callee, ...name } }) => (callee ?? name).name === 'Controller';

const rule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { long: `A method of a controller has ${MOST_LINES} lines or fewer: this one has {{lines}}.` },
  },
  create: (context) => ({
    'ClassBody > :matches(MethodDefinition, PropertyDefinition) > .value > BlockStatement.body'(body) {
      const member = body.parent.parent;
      if (!member.parent.parent.decorators.some(isController)) return;
      const lines = body.loc.end.line - body.loc.start.line - 1;
      if (lines > MOST_LINES) context.report({ node: member.key, messageId: 'long', data: { lines } });
    },
  }),
};

module.exports = { rule };
