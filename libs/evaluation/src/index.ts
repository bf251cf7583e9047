export { EvaluationModule } from './evaluation.module';
export { evaluationEntities, evaluationReadModels } from './domain';
