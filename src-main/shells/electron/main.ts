import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  nativeImage,
  protocol,
  safeStorage,
  session,
  shell,
  Tray,
} from 'electron';
import { findHome } from '../../home/home.ts';
import type { EngineOptions } from '../engine-protocol.ts';
import { type DeskArguments, parseDeskArguments } from './arguments.ts';
import { startDesk } from './desk.ts';
import { findForbiddenSwitch } from './switches.ts';

const argv = process.argv.slice(1);

function startEngine(given: DeskArguments): Worker {
  const options: EngineOptions = {
    home: findHome(given.home, process.env),
    port: given.port,
    ownerPage: false,
    rendererDir: null,
    version: app.getVersion(),
  };
  return new Worker(join(app.getAppPath(), 'out/main/engine.js'), { workerData: options, name: 'engine' });
}

function main(): void {
  const refused = app.isPackaged ? findForbiddenSwitch(argv, process.platform) : undefined;
  if (refused !== undefined) {
    process.stderr.write(`Memory Git does not run with --${refused}.\n`);
    app.exit(1);
    return;
  }
  try {
    const given = parseDeskArguments(argv);
    const parts = { app, BrowserWindow, dialog, ipcMain, Menu, nativeImage, protocol, safeStorage };
    const electron = { ...parts, session, shell, Tray };
    startDesk(electron, {
      platform: process.platform,
      argv,
      namedHome: given.home,
      startEngine: () => startEngine(given),
      nonce: () => randomBytes(16).toString('base64url'),
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'Memory Git could not start.'}\n`);
    app.exit(2);
  }
}

main();
