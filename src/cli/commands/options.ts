/**
 * Options that several commands take, and how an action tells its exit code.
 */
import { Option } from 'commander'

/** An action calls it once, with what the process is to end with. */
export type Done = (exitCode: number) => void

export const dataOption = (): Option =>
  new Option('--data <dir>', 'the data directory of a node of the cluster').makeOptionMandatory()
export const configOption = (): Option =>
  new Option('--config <file>', 'the configuration of a node (YAML)').makeOptionMandatory()
export const jsonOption = (): Option => new Option('--json', 'print one JSON object')
