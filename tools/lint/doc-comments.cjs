// A doc comment is a full sentence, or a noun phrase that names the value: it says what a thing returns or promises, its
// units and errors. A comment that begins with one of these is neither.

const REFUSED =
  /^[\s*]*(?:What|How|Whether|Of|That of|Those|Who|Such|Beyond|After so|So many|As it|One that)(?![\p{L}\p{N}_])/u;

/** True when the text between the slashes of a comment is a doc comment with a refused beginning. */
function isRefused(text) {
  return text.startsWith('*') && REFUSED.test(text);
}

const rule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { riddle: 'A doc comment is a sentence with a subject, or a noun phrase that names the value.' },
  },
  create: (context) => ({
    Program() {
      for (const { type, value, loc } of context.sourceCode.getAllComments()) {
        if (type === 'Block' && isRefused(value)) context.report({ loc, messageId: 'riddle' });
      }
    },
  }),
};

module.exports = { isRefused, rule };
