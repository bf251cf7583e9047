import { VerdictReports } from '@fairlead/contracts';
import { ExperimentLimits } from '@fairlead/runs';
import { type DynamicModule, Module } from '@nestjs/common';
import { Comparisons } from '../compare/comparisons.service';
import { SliceComparisons } from '../slices/slice-comparisons.service';
import { ComparisonReports } from './comparison-reports.service';
import { VerdictReportsService } from './verdict-reports.service';

/**
 * Comparisons, and the reports that are made of them: {@link VerdictReports} for the whole application. Needs the
 * providers of EventingModule.
 */
@Module({})
export class VerdictReportsModule {
  static register(limits: Partial<ExperimentLimits> = {}): DynamicModule {
    return {
      module: VerdictReportsModule,
      global: true,
      providers: [
        { provide: ExperimentLimits, useValue: new ExperimentLimits(limits) },
        Comparisons,
        SliceComparisons,
        ComparisonReports,
        { provide: VerdictReports, useClass: VerdictReportsService },
      ],
      exports: [Comparisons, SliceComparisons, ComparisonReports, VerdictReports],
    };
  }
}
