/** The Grafana dashboard as data: which panel asks for what. */
import { read } from './files.ts'

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly type: string; readonly uid: string }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

export const DASHBOARD = JSON.parse(read('deploy/grafana/holdfast.json')) as {
  readonly uid: string
  readonly panels: readonly Panel[]
}

/** Rows hold no query. */
export const CHARTS: readonly Panel[] = DASHBOARD.panels.filter(({ type }) => type !== 'row')
