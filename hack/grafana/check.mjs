// Holds dashboards against the types of Grafana's own schema: CONTRIBUTING.md has the command. It writes a TypeScript file in which each panel has the
// type of its kind, and has tsc read it.
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';

const types = `import type {AnnotationQuery, Dashboard, DataQuery, FieldConfig, FieldConfigSource, Panel, RowPanel, VariableModel} from '@grafana/schema';

// What a file can say: members of enums by their values, and not all that the code has by default.
type Value<T> = T extends string ? \`\${T}\` : T extends Array<infer I> ? Array<Value<I>> : T extends object ? {[K in keyof T]: Value<T[K]>} : T;
type Some<T> = T extends Array<infer I> ? Array<Some<I>> : T extends object ? {[K in keyof T]?: Some<T[K]>} : T;

// What the schema leaves to Grafana's Prometheus data source.
type Query = Value<Omit<DataQuery, 'datasource'>> & {
  datasource?: {type: 'prometheus'; uid: string}; expr: string; format?: 'time_series' | 'table' | 'heatmap'; instant?: boolean; range?: boolean; legendFormat?: string; interval?: string;
};
type Events = Omit<Value<AnnotationQuery>, 'target'> & {target: Query; titleFormat?: string; textFormat?: string; tagKeys?: string; useValueForTime?: boolean};
type Variable = Value<VariableModel> & {definition?: string};
type Row = Omit<Value<RowPanel>, 'panels'> & {panels: never[]};
type Of<Kind, Options, Custom> = Omit<Value<Panel>, 'type' | 'options' | 'fieldConfig' | 'targets'> & {
  type: Kind; options?: Some<Value<Options>>;
  fieldConfig?: Omit<Value<FieldConfigSource>, 'defaults'> & {defaults: Omit<Value<FieldConfig>, 'custom'> & {custom?: Some<Value<Custom>>}};
} & (Kind extends 'text' ? {} : {targets: Query[]});
type Frame = Omit<Value<Dashboard>, 'panels' | 'annotations' | 'templating'>;
`;

const module = (kind) => `./node_modules/@grafana/schema/dist/types/raw/composable/${kind.replaceAll('-', '')}/panelcfg/x/types.gen`;
const imported = new Map(); // the line of each kind of panel
const typeOf = (panel) => {
  if (panel.type === 'row') return 'Row';
  const name = panel.type.replaceAll('-', '');
  imported.set(panel.type, `import type * as ${name} from '${module(panel.type)}';\n`);
  const custom = readFileSync(`${module(panel.type)}.d.ts`, 'utf8').includes('export interface FieldConfig') ? `${name}.FieldConfig` : '{}';
  return `Of<'${panel.type}', ${name}.Options, ${custom}>`;
};

const parts = process.argv.slice(2).flatMap((file) => {
  const {panels, annotations, templating, ...frame} = JSON.parse(readFileSync(file, 'utf8'));
  return [
    [file, 'Frame', frame],
    ...(annotations?.list ?? []).map((a) => [`${file}, annotation ${a.name}`, 'Events', a]),
    ...(templating?.list ?? []).map((v) => [`${file}, variable ${v.name}`, 'Variable', v]),
    ...panels.map((p) => [`${file}, panel ${p.id} ${p.title}`, typeOf(p), p]),
  ];
});
const values = parts.map(([what, type, value], i) => `// ${what}\nexport const value${i}: ${type} = ${JSON.stringify(value, null, 1)};\n`);
writeFileSync('dashboards.ts', [...imported.values(), types, ...values].join(''));
try {
  execFileSync('node', ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022', 'dashboards.ts'], {stdio: 'inherit'});
} catch {
  console.error('The lines are of dashboards.ts here, which has above each value what it is.');
  process.exit(1);
}
console.log(`${parts.length} parts of ${process.argv.length - 2} dashboards are as the schema has them`);
