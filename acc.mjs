import 'reflect-metadata';
import { parseLossless } from './dist/platform/json/lossless.js';
import { textErrors } from './dist/platform/http/field-errors.js';
import { plainToInstance, Transform } from 'class-transformer';
class A {}
const cpu = (f) => { const t=process.cpuUsage(); f(); const u=process.cpuUsage(t); return ((u.user+u.system)/1000).toFixed(1); };
const names = (n) => '{' + Array.from({length:n},(_, i)=>`"n${i}":1`).join(',') + '}';
const locs = (n) => '{"gridLocations":[' + Array.from({length:n},()=>'{"ean":"1"}').join(',') + ']}';
for (let r=0;r<4;r++) for (const [k,b] of [['names26k',names(26000)],['names20k',names(20000)],['names5k',names(5000)],['locs10k',locs(10000)],['locs1k',locs(1000)]]) {
 let v; const p=cpu(()=>{v=parseLossless(b)}); const j=cpu(()=>JSON.parse(b)); const t=cpu(()=>textErrors(v)); const i=cpu(()=>plainToInstance(A,v,{exposeUnsetFields:false})); const m=cpu(()=>plainToInstance(A,{metadata:v},{exposeUnsetFields:false}));
 console.log(r,k,'parse',p,'JSON',j,'text',t,'inst',i,'nested',m);
}
