export { EvaluationModule } from './evaluation.module';
export { evaluationEntities, evaluationReadModels } from './domain';
export { SIMULATED_LIMIT, SIMULATED_SHAPES, simulateGate } from './gates/gate-simulation';
