export { EvaluationModule } from './evaluation.module';
export { VerdictReportsModule } from './report/verdict-reports.module';
export { evaluationEntities, evaluationReadModels } from './domain';
export { SIMULATED_LIMIT, SIMULATED_SHAPES, simulateGate } from './gates/gate-simulation';
