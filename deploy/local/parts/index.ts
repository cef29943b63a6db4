import type { Part } from '../part.ts';
import { ec2 } from './ec2.ts';
import { etcd, etcdPool } from './etcd.ts';
import { starter, worker } from './keelson.ts';
import { kubeApiserver } from './kube-apiserver.ts';
import { kubeControllerManager } from './kube-controller-manager.ts';
import { kubeScheduler } from './kube-scheduler.ts';
import { mariadb } from './mariadb.ts';
import { moto } from './moto.ts';
import { nodes } from './nodes.ts';
import { prometheus } from './prometheus.ts';
import { provisioner } from './provisioner.ts';
import { spotApi } from './spot-api.ts';
import { temporal } from './temporal.ts';

/** Every part that the stack can run, each after those that it depends on. */
export const PARTS: readonly Part[] = [
  etcd,
  kubeApiserver,
  kubeControllerManager,
  kubeScheduler,
  temporal,
  nodes,
  provisioner,
  worker,
  starter,
  etcdPool,
  mariadb,
  moto,
  ec2,
  spotApi,
  prometheus,
];
