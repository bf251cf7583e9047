import { readFileSync } from 'node:fs';
import * as ts from 'typescript';
import { SPREAD } from './spread-tables';

const TABLES = SPREAD.join('|');
const NAMED = new RegExp(`\\b(?:from|join|into|update|using)\\s+(?:${TABLES})\\b`);
/** A table whose name is filled in, in the libraries of these tables. */
const OWNERS = /libs\/(?:blobs|runs|datasets|experiments|evaluation|audit)\//;
const FILLED = /\b(?:from|join|into|update)\s+$/;

/** A text in a source file that names one of the tables, as the parts around what is filled in. */
interface Written {
  readonly place: string;
  readonly parts: readonly string[];
}

export function writtenIn(path: string): Written[] {
  const text = readFileSync(path, 'utf8');
  const isOwner = OWNERS.test(path);
  if (!NAMED.test(text) && !(isOwner && /\$\{/.test(text))) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Written[] = [];
  const visit = (node: ts.Node): void => {
    const parts = partsOf(node);
    if (parts && isStatement(parts, isOwner)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ place: `${path}:${line + 1}`, parts });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function partsOf(node: ts.Node): string[] | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
}

function isStatement(parts: readonly string[], isOwner: boolean): boolean {
  return parts.some((part) => NAMED.test(part)) || (isOwner && parts.slice(0, -1).some((part) => FILLED.test(part)));
}

/** Returns whether a statement holds a text: its parts in their order. */
export function holds(statement: string, { parts }: Written): boolean {
  let at = 0;
  for (const part of parts) {
    const found = statement.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}
