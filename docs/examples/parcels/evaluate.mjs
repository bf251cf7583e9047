// Asks the agent 80 questions, and prints a row of an experiment for each.
import { answer } from './answer.mjs';

const RIGHT = { Austria: 3, Germany: 2, Norway: 6, Switzerland: 4 };

for (const [country, days] of Object.entries(RIGHT)) {
  for (let kilos = 1; kilos <= 20; kilos++) {
    const question = `How long does a parcel of ${kilos} kg to ${country} take?`;
    const [expected, actual] = [`${days} days`, answer(question)];
    const row = {
      inputs: { question },
      expected_outputs: { answer: expected },
      actual_outputs: { answer: actual },
      scores: { correct: actual === expected ? 1 : 0 },
    };
    console.log(JSON.stringify(row));
  }
}
