import type { z } from 'zod';
import { backupCommands, restoreCommands } from './backup.ts';
import { importCommands } from './import.ts';
import { ledgerCommands } from './ledger.ts';
import { ledgerOwnerCommands } from './ledger-owner.ts';
import { memoryReadCommands } from './memory-read.ts';
import { memoryWriteCommands } from './memory-write.ts';
import { oauthCommands } from './oauth.ts';
import { operationCommands } from './operations.ts';
import { ownerCommands } from './owner.ts';
import { ownerWordCommands } from './owner-word.ts';
import { settingCommands } from './settings.ts';

/** The whole command table, in the order in which tools are listed. */
export const commandTable = [
  ...memoryReadCommands,
  ...memoryWriteCommands,
  ...ledgerCommands,
  ...ownerCommands,
  ...oauthCommands,
  ...ledgerOwnerCommands,
  ...operationCommands,
  ...settingCommands,
  ...importCommands,
  ...backupCommands,
  ...restoreCommands,
  ...ownerWordCommands,
] as const;

type Row = (typeof commandTable)[number];
export type CommandName = Row['name'];
type RowOf<Name extends CommandName> = Extract<Row, { readonly name: Name }>;

/** What a caller sends to a command, before parsing (brands are not needed), and what a handler gets, after it. */
export type CommandInput<Name extends CommandName> = z.input<RowOf<Name>['input']>;
export type ParsedInput<Name extends CommandName> = z.output<RowOf<Name>['input']>;
export type CommandOutput<Name extends CommandName> = z.output<RowOf<Name>['output']>;
